"""Numbers of reports as cells of a table: rounded once, here, with their interval or the reason why there is none."""


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value, digits=2, scale=1.0):
    """A number, or a dash where a report says why there is none."""
    return f"{scale * value:.{digits}f}".replace("-", "−") if is_number(value) else "–"


def small(value):
    """A distance that may be tiny, with two significant digits."""
    return f"{value:.2g}".replace("e-0", "e−").replace("e-", "e−") if is_number(value) else "–"


def interval(value, digits=2, scale=1.0):
    """`[low … high]`; nothing where there is none."""
    if not isinstance(value, dict) or "low" not in value:
        return ""
    return f" [{number(value['low'], digits, scale)} … {number(value['high'], digits, scale)}]"


def measured(estimate, bounds, digits=2, scale=1.0):
    """An estimate with its interval."""
    return number(estimate, digits, scale) + interval(bounds, digits, scale)


def spread(metric, digits=2):
    """`mean ± SD [interval of the SD]` of a metric over runs, or that all runs gave the same."""
    if metric["n"] and metric["range"] == 0:
        return f"{number(metric['mean'], digits)}, all equal"
    return f"{number(metric['mean'], digits)} ± {measured(metric['sd'], metric['sd_interval'], digits)}"


def table(heads, rows):
    """A table in Markdown: the first column is text, the others are numbers."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"
