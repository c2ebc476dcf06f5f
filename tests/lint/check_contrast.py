#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_contrast.py [FILE]: every text of the status page has a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3), in the light
and in the dark colours. Computed from the CSS variables and rules of server/web/page/page.css. One line a problem; exit status 1
when there is any.

A rule with a colour is held against each background that it may lie on: its own, over each surface, where it has one; else each
surface. A rule with an opacity is held with it. Colours that no variable names are not taken: a rule must use var(--…)."""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "server/web/page/page.css"
LEAST = 4.5
SURFACES = ("page", "card", "hover")  # what text lies on
KEPT = {"inherit", "transparent", "none"}
VARIABLE = re.compile(r"--([\w-]+):\s*(#[0-9a-fA-F]{6,8})\s*;")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
USE = re.compile(r"var\(--([\w-]+)\)")


def channels(colour):
    """(red, green, blue, alpha), each from 0 to 1."""
    digits = colour.lstrip("#")
    values = [int(digits[at:at + 2], 16) / 255 for at in range(0, len(digits), 2)]
    return (*values[:3], values[3] if len(values) > 3 else 1.0)


def over(top, below):
    """`top` over `below`, which is opaque."""
    alpha = top[3]
    return (*(alpha * a + (1 - alpha) * b for a, b in zip(top[:3], below[:3])), 1.0)


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def schemes(css):
    """{"light": variables, "dark": variables}: the dark ones replace the light ones of the same name."""
    light, dark = re.search(r":root\s*\{([^}]*)\}", css), re.search(r"prefers-color-scheme: dark\)\s*\{\s*:root\s*\{([^}]*)\}", css)
    first = dict(VARIABLE.findall(light.group(1)))
    return {"light": first, "dark": {**first, **dict(VARIABLE.findall(dark.group(1)))}}


def declarations(body):
    return dict(tuple(part.strip() for part in one.split(":", 1)) for one in body.split(";") if ":" in one)


def texts(css):
    """(selector, name of the text's variable, name of its own background's or None, opacity) of every rule that colours text."""
    without_comments = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    for selector, body in RULE.findall(without_comments):
        rule = declarations(body)
        colour, ground = rule.get("fill" if "text" in selector.split() else "color", ""), USE.search(rule.get("background", ""))
        if not colour and ground and ground.group(1).endswith("-soft"):
            colour = "var(--ink)"  # as it comes from the page
        if not colour or colour in KEPT:
            continue
        used = USE.search(colour)
        if not used:
            yield selector.strip(), None, None, 1.0
            continue
        yield selector.strip(), used.group(1), ground.group(1) if ground else None, float(rule.get("opacity", 1))


def may_be_marked(selector, css):
    """Whether text of the selector may lie on a marked line of IR: the page's own, and that of lines unless marked ones have another."""
    return selector == "body" or selector.startswith("pre span") and (".hit" in selector or "pre span.hit::before" not in css)


def problems_of(css):
    for scheme, colours in schemes(css).items():
        known = {name: channels(value) for name, value in colours.items()}
        for selector, text, ground, opacity in texts(css):
            if text is None:
                yield f"{selector}: its colour is no variable"
                continue
            for surface in (*SURFACES, *(["mark"] if may_be_marked(selector, css) else [])):
                below = over(known[ground], known[surface]) if ground else known[surface]
                shown = over((*known[text][:3], known[text][3] * opacity), below)
                ratio = contrast(shown, below)
                if ratio < LEAST:
                    yield f"{scheme}: {selector}: {text} on {ground or surface} has {ratio:.2f}, less than {LEAST}"


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    problems = sorted(set(problems_of(page.read_text(encoding="utf-8"))))
    print("\n".join(problems) if problems else "contrast: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
