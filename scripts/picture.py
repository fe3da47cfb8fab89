#!/usr/bin/env python3
"""Turns captured terminal screens into one SVG that plays them.

    picture.py OUT.svg STILL SECONDS FILE [SECONDS FILE ...]

A file is what `tmux capture-pane -e -p` printed. STILL is the number of the screen, from 1, that is shown where
nothing moves. Text stays text: it can be selected, and it is drawn in whatever monospaced font there is.
"""

import re
import sys
import unicodedata
from collections import Counter
from html import escape

CELL = (8.4, 18)
PAD = 14
FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
GROUND, TEXT = "#14161b", "#e0e2ea"
ANSI = [
    "#07080d", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
    "#4f5258", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
]  # fmt: skip
PLAIN = {"fg": None, "bg": None, "bold": False, "dim": False, "italic": False, "underline": False, "reverse": False}
SWITCH = {1: ("bold", True), 2: ("dim", True), 3: ("italic", True), 4: ("underline", True), 7: ("reverse", True)}
SWITCH |= {23: ("italic", False), 24: ("underline", False), 27: ("reverse", False)}


def indexed(number):
    if number < 16:
        return ANSI[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{steps[number // unit % 6]:02x}" for unit in (36, 6, 1))


def apply(style, codes):
    """The style after an SGR sequence."""
    style = dict(style)
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = dict(PLAIN)
        elif code == 22:
            style["bold"] = style["dim"] = False
        elif code in SWITCH:
            key, value = SWITCH[code]
            style[key] = value
        elif code in (38, 48) and codes:
            key = "fg" if code == 38 else "bg"
            kind = codes.pop(0)
            if kind == 5:
                style[key] = indexed(codes.pop(0))
            elif kind == 2:
                style[key] = "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
        elif code in (39, 49):
            style["fg" if code == 39 else "bg"] = None
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style["fg"] = ANSI[code - 30 if code < 90 else code - 82]
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style["bg"] = ANSI[code - 40 if code < 100 else code - 92]
    return style


def width(char):
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def runs(line, style):
    """The line as (column, columns, text, style), and the style at its end."""
    found, column = [], 0
    for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
        if part.startswith("\x1b["):
            # `4:3` is a curly underline: here all underlines are alike.
            codes = [int(code.split(":")[0] or 0) for code in re.sub(r"(?<=[34]8):", ";", part[2:-1]).split(";")]
            style = apply(style, codes)
            continue
        part = re.sub(r"\x1b.", "", part)
        for piece in re.findall(r" +|[^ ]+(?: [^ ]+)*", part):
            columns = sum(map(width, piece))
            found.append((column, columns, piece, style))
            column += columns
    return found, style


def draw(screen):
    """A screen's rows, each as its elements."""
    rows, style = [], PLAIN
    for row, line in enumerate(screen.split("\n")):
        out = []
        found, style = runs(line, style)
        top = PAD + row * CELL[1]
        for column, columns, text, its in found:
            fg, bg = its["fg"] or TEXT, its["bg"] or GROUND
            if its["reverse"]:
                fg, bg = bg, fg
            left, wide = PAD + column * CELL[0], columns * CELL[0]
            if bg != GROUND:
                out.append(f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{CELL[1]}" fill="{bg}"/>')
            if not text.strip() and not its["underline"]:
                continue
            extra = f' fill="{fg}"' if fg != TEXT else ""
            looks = ["font-weight:bold"] * its["bold"] + ["font-style:italic"] * its["italic"]
            extra += f' style="{";".join(looks)}"' if looks else ""
            extra += ' opacity="0.6"' if its["dim"] else ""
            extra += ' text-decoration="underline"' if its["underline"] else ""
            out.append(
                f'<text x="{left:.1f}" y="{top + 13.5}" textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs"'
                f"{extra}>{escape(text)}</text>"
            )
        rows.append("".join(out))
    return rows


def shared(screens):
    """The screens' groups, and the rows that several of them have, which are drawn once."""
    seen = Counter(row for rows in screens for row in rows)
    often = {row: f"r{at}" for at, row in enumerate(row for row, count in seen.items() if count > 1 and len(row) > 40)}
    defs = "".join(f'<g id="{name}">{row}</g>' for row, name in often.items())
    return defs, ["".join(f'<use href="#{often[row]}"/>' if row in often else row for row in rows) for rows in screens]


def main():
    out, still, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    frames = []
    for seconds, path in zip(rest[::2], rest[1::2]):
        with open(path, encoding="utf-8") as file:
            frames.append((float(seconds), file.read().rstrip("\n")))
    lines = [re.sub(r"\x1b\[[0-9;:]*m", "", line) for _, screen in frames for line in screen.split("\n")]
    wide = max(sum(map(width, line)) for line in lines) * CELL[0] + 2 * PAD
    high = max(screen.count("\n") + 1 for _, screen in frames) * CELL[1] + 2 * PAD
    total = sum(seconds for seconds, _ in frames)
    defs, drawn = shared([draw(screen) for _, screen in frames])
    css, groups, at = [f"text{{font:14px {FONT};white-space:pre}}"], [], 0.0
    for number, (seconds, _) in enumerate(frames, 1):
        begin, end = 100 * at / total, 100 * (at + seconds) / total
        at += seconds
        shown = "visible" if number == still else "hidden"
        before = f"0%{{visibility:hidden}}{begin:.2f}%{{visibility:visible}}" if begin else "0%{visibility:visible}"
        after = f"{end:.2f}%,100%{{visibility:hidden}}" if number < len(frames) else ""
        css.append(f"#f{number}{{visibility:{shown}}}")
        if len(frames) > 1:
            css.append(f"@keyframes k{number}{{{before}{after}}}")
            css.append(f"@media (prefers-reduced-motion:no-preference){{#f{number}{{animation:k{number} {total:g}s step-end infinite}}}}")
        groups.append(f'<g id="f{number}">{drawn[number - 1]}</g>')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}">'
        f"<style>{''.join(css)}</style>"
        f"<defs>{defs}</defs>"
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/><g fill="{TEXT}">{"".join(groups)}</g></svg>\n'
    )
    with open(out, "w", encoding="utf-8") as file:
        file.write(svg)


if __name__ == "__main__":
    main()
