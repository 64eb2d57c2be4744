// What a reader gains where scripts run: tables that sort, a choice of colours, experiments that can be left out.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables. A row of notes stays below the row that it explains; what has no figure comes last in both directions.
  const cellAt = (row, column) => {
    let at = 0;
    for (const cell of row.cells) {
      if (at === column) return cell.colSpan === 1 ? cell : null;
      at += cell.colSpan;
    }
    return null;
  };
  const keyOf = (cell, isNumeric) => {
    if (!cell) return null;
    if (isNumeric) return "value" in cell.dataset ? Number(cell.dataset.value) : null;
    return cell.querySelector(".reason") ? null : cell.textContent.trim();
  };
  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  const groupsOf = (body) => {
    const groups = [];
    for (const row of body.rows) {
      if (row.classList.contains("note") && groups.length) groups[groups.length - 1].push(row);
      else groups.push([row]);
    }
    return groups;
  };
  const makeSortable = (table) => {
    const body = table.tBodies[0];
    const groups = groupsOf(body);
    const heads = [...table.tHead.rows[0].cells];
    if (groups.length < 2) return;
    heads.forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const isNumeric = groups.some(([row]) => "value" in (cellAt(row, column)?.dataset ?? {}));
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = { ascending: "descending", descending: null }[now] ?? (now ? null : "ascending");
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        const sign = next === "descending" ? -1 : 1;
        const keyed = groups.map((rows) => ({ rows, key: keyOf(cellAt(rows[0], column), isNumeric) }));
        if (next) {
          head.setAttribute("aria-sort", next);
          keyed.sort((a, b) => (a.key === null || b.key === null
            ? (a.key === null) - (b.key === null)
            : sign * compare(a.key, b.key)));
        }
        body.append(...keyed.flatMap(({ rows }) => rows));
      });
    });
  };
  all("table[data-sortable]").forEach(makeSortable);

  // Colours: the rules for a dark screen are made to hold always, never, or as the system says.
  const dark = all("style").flatMap((style) => [...style.sheet.cssRules])
    .find((rule) => rule instanceof CSSMediaRule && rule.media.mediaText.includes("prefers-color-scheme"));
  const asSystem = dark?.media.mediaText;
  const choose = (theme) => {
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme === "auto" ? "" : theme;
    if (dark) dark.media.mediaText = { auto: asSystem, dark: "screen", light: "not all" }[theme];
  };

  // Controls lie in templates, where nobody meets them who could not use them.
  const fill = (place, name) => {
    const template = document.getElementById(name);
    if (template) place.append(template.content.cloneNode(true));
  };
  all("[data-controls]").forEach((place) => fill(place, place.dataset.controls));
  all("[data-theme-choice]").forEach((input) => input.addEventListener("change", () => choose(input.value)));

  const boxes = all("[data-series]");
  const show = (series, isShown) => {
    boxes.filter((box) => box.dataset.series === series).forEach((box) => { box.checked = isShown; });
    all(`svg .series-${series}`).forEach((group) => group.classList.toggle("left-out", !isShown));
  };
  boxes.forEach((box) => box.addEventListener("change", () => show(box.dataset.series, box.checked)));

  all("[data-copied]").forEach((button) => button.addEventListener("click", async () => {
    const sentence = button.closest("[data-controls]").previousElementSibling;
    getSelection().selectAllChildren(sentence);
    try {
      await navigator.clipboard.writeText(sentence.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      // Where a browser keeps its clipboard to itself, the sentence is selected at least.
    }
  }));

  // A region that shows all of its table needs no stop of the keyboard.
  const regions = all(".scroll");
  const fit = () => {
    const isCut = regions.map((it) => it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1);
    regions.forEach((region, index) => {
      if (isCut[index]) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    });
  };
  new ResizeObserver(fit).observe(document.body);

  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => all("details:not([open])").forEach((it) => {
    it.open = true;
    it.dataset.folded = "";
  }));
  addEventListener("afterprint", () => all("details[data-folded]").forEach((it) => {
    it.open = false;
    delete it.dataset.folded;
  }));
})();
