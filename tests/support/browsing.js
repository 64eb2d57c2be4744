// What is wrong with an open page, in words: run by a test inside the page, whether or not its own scripts may run.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const said = (element) => element.textContent.trim().replace(/\s+/g, " ").slice(0, 50);

  // Colours as numbers from 0 to 255 and an opacity, whatever form the style has.
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const [r, g, b] = rgba(colour).map((it) => (it /= 255) <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = () => getComputedStyle(document.body).backgroundColor;

  const isDrawn = (mark) => {
    const style = getComputedStyle(mark);
    const has = (paint, width) => paint !== "none" && parseFloat(width) > 0 && rgba(paint)[3] > 0;
    return has(style.stroke, style.strokeWidth) || has(style.fill, 1);
  };
  const marksOf = (svg) => all("path, line, use, rect, circle", svg).filter((it) => {
    if (it.closest("defs, clipPath")) return false;
    const { width, height } = it.getBBox();
    return width + height > 0 && isDrawn(it);
  });
  const overlap = (a, b) => {
    const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (width <= 0 || height <= 0) return 0;
    return (width * height) / Math.min(a.width * a.height, b.width * b.height);
  };
  const figureFlaws = (svg) => {
    const flaws = [];
    const frame = svg.getBoundingClientRect();
    // How much room marks take that are stacked on a letter is up to the fonts of a machine.
    const texts = all("text", svg).filter((it) => said(it) && isShown(it) && !/\p{Mark}/u.test(it.textContent));
    const boxes = texts.map((it) => it.getBoundingClientRect());
    const marks = marksOf(svg);
    const ink = getComputedStyle(svg).color;
    if (frame.width < 100 || frame.height < 40) flaws.push(`is ${frame.width} x ${frame.height}`);
    if (marks.length < 3) flaws.push(`has ${marks.length} marks`);
    if (svg.closest("#points, #curves") && !marks.some((it) => ![ink, "none"].includes(getComputedStyle(it).stroke)))
      flaws.push("has no mark in colour");
    if (texts.length < 2) flaws.push("has no text");
    for (const name of ["title", "desc"]) if (!said(svg.querySelector(`:scope > ${name}`) ?? new Text())) flaws.push(`has no ${name}`);
    texts.forEach((text, index) => {
      const { left, right, top, bottom } = boxes[index];
      const style = getComputedStyle(text);
      const { a, b } = text.getScreenCTM();
      const pixels = parseFloat(style.fontSize) * Math.hypot(a, b);
      if (left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1)
        flaws.push(`"${said(text)}" is cut at its edge`);
      if (pixels < 8.95) flaws.push(`"${said(text)}" has letters of ${pixels.toFixed(1)} pixels`);
      if (contrast(style.fill, ground()) < 4.5) flaws.push(`"${said(text)}" is too faint`);
      for (let other = index + 1; other < texts.length; other++)
        if (overlap(boxes[index], boxes[other]) > 0.25) flaws.push(`"${said(text)}" lies on "${said(texts[other])}"`);
    });
    return flaws;
  };

  return {
    // Elements that stand out of the window, but for those that scroll in a region of their own.
    tooWide() {
      const { scrollWidth } = document.documentElement;
      if (scrollWidth <= innerWidth) return [];
      const out = all("body *").filter((it) => it.getBoundingClientRect().right > innerWidth + 1 && !it.closest("svg *"));
      return [`${scrollWidth} pixels in a window of ${innerWidth}`, ...out.slice(0, 8).map((it) => `${it.tagName} ${said(it)}`)];
    },

    // Parts without a heading, or with nothing below it.
    emptyParts() {
      return all("main > section").filter((part) => {
        const head = part.querySelector("h2");
        return !head || !isShown(head) || part.innerText.trim().length - head.innerText.trim().length < 20;
      }).map((it) => it.id || said(it));
    },

    figures: () => all("figure svg").length,

    figureFlaws() {
      return all("figure svg").filter(isShown).flatMap((svg) =>
        figureFlaws(svg).map((flaw) => `${svg.closest("section[id]").id}, ${said(svg.querySelector("title"))}: ${flaw}`));
    },

    // Figures without a picture must say why.
    emptyFigures: () => all("figure").filter((it) => !it.querySelector("svg, .absent")).map((it) => it.outerHTML.slice(0, 200)),

    deadControls: () => all("button, input, select").filter(isShown).map((it) => it.outerHTML.slice(0, 100)),

    // Ids that two elements share, and references to ids that nobody has.
    brokenIds() {
      const ids = all("[id]").map((it) => it.id);
      const asked = all("[aria-labelledby], [aria-describedby], [for], a[href^='#']").flatMap((it) =>
        ["aria-labelledby", "aria-describedby", "for"].flatMap((name) => (it.getAttribute(name) ?? "").split(/\s+/))
          .concat(decodeURIComponent(it.getAttribute("href") ?? "").replace(/^[^#]*#?/, "")));
      return [...ids.filter((it, index) => ids.indexOf(it) !== index),
        ...new Set(asked.filter((it) => it && !ids.includes(it)))];
    },

    // Colours of experiments that are hard to tell from the ground. Source: WCAG 2.2, 1.4.11: 3 to 1.
    faintColours() {
      const paint = getComputedStyle(document.documentElement);
      return [0, 1, 2, 3, 4, 5].map((it) => paint.getPropertyValue(`--series-${it}`).trim())
        .filter((it) => !it || contrast(it, ground()) < 3);
    },

    // Texts of the first part that are hard to tell from what is behind them. Source: WCAG 2.2, 1.4.3: 4.5 to 1.
    faintTexts() {
      const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const { backgroundColor } = getComputedStyle(at);
          if (rgba(backgroundColor)[3] > 0) return backgroundColor;
        }
        return "white";
      };
      return all("main > section:first-of-type *").filter((it) => isShown(it) &&
        [...it.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()) &&
        contrast(it.closest("svg") ? getComputedStyle(it).fill : getComputedStyle(it).color, behind(it)) < 4.5)
        .map((it) => `"${said(it)}" is too faint`);
    },

    unfold: () => all("details").forEach((it) => { it.open = true; }),
  };
})()
