# SPDX-License-Identifier: Apache-2.0
"""Renders a Helm chart without helm, as far as deploy/helm goes: `if`, `with`, pipelines, `.Files.Get`, and the functions below.
What it does not know is a ValueError, so that a template cannot use it unseen."""
import copy
import hashlib
import json
import re

ACTION = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
WORD = re.compile(r'"[^"]*"|\S+')
FUNCTIONS = {
    "quote": lambda value: json.dumps(str(value)),
    "sha256sum": lambda value: hashlib.sha256(value.encode()).hexdigest(),
    "nindent": lambda count, value: "".join("\n" + " " * int(count) + line for line in value.split("\n")),
    "eq": lambda one, other: one == other,
    "not": lambda value: not value,
}


def merge(values, changes):
    """`values` with `changes` as helm's --values merges them: maps deep; null is as good as absent."""
    merged = copy.deepcopy(values)
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = merge(merged[name], value)
        else:
            merged[name] = value
    return merged


class Renderer:
    """Renders the templates of one chart with one set of values."""

    def __init__(self, yaml, values, namespace, folder=None):
        self._yaml = yaml
        self._folder = folder
        self._root = {"Values": values, "Release": {"Namespace": namespace}}

    def render(self, template):
        """The template's text. ValueError for what is not known here; KeyError for a value that values.yaml lacks."""
        return self._run(self._parse(self._tokens(template), 0, top=True)[0], self._root)

    @staticmethod
    def _tokens(template):
        """[("text", …) | ("action", …)], with white space trimmed where an action has a dash."""
        tokens, at, trim = [], 0, False
        for found in ACTION.finditer(template):
            text = template[at:found.start()]
            text = text.lstrip() if trim else text
            tokens += [("text", text.rstrip() if found.group(1) else text), ("action", found.group(2))]
            at, trim = found.end(), bool(found.group(3))
        return tokens + [("text", template[at:].lstrip() if trim else template[at:])]

    def _parse(self, tokens, at, top=False):
        pieces = []
        while at < len(tokens):
            kind, text = tokens[at]
            at += 1
            if kind == "text":
                pieces.append(("text", text))
            elif text.split()[0] in ("if", "with"):
                body, at = self._parse(tokens, at)
                pieces.append((text.split()[0], text.split(None, 1)[1], body))
            elif text == "end":
                if top:
                    raise ValueError("an end without its beginning")
                return pieces, at
            else:
                pieces.append(("value", text))
        if not top:
            raise ValueError("an if or with without its end")
        return pieces, at

    def _run(self, pieces, dot):
        out = []
        for kind, text, *body in pieces:
            if kind == "text":
                out.append(text)
                continue
            value = self._pipeline(text, dot)
            if kind == "value":
                out.append(str(value))
            elif value:
                out.append(self._run(body[0], value if kind == "with" else dot))
        return "".join(out)

    def _pipeline(self, text, dot):
        value = []
        for stage in text.split(" | "):
            value = [self._call(WORD.findall(stage), dot, value)]
        return value[0]

    def _call(self, words, dot, piped):
        if words[0] == "toYaml":
            given = [self._atom(word, dot) for word in words[1:]] + piped
            return self._yaml.safe_dump(given[0], default_flow_style=False).rstrip("\n")
        if words[0] == ".Files.Get":
            return (self._folder / self._atom(words[1], dot)).read_text(encoding="utf-8")
        if words[0] in FUNCTIONS:
            return FUNCTIONS[words[0]](*[self._atom(word, dot) for word in words[1:]], *piped)
        if len(words) > 1 or piped:
            raise ValueError(f"{words[0]} is a function that this renderer does not know")
        return self._atom(words[0], dot)

    def _atom(self, word, dot):
        if word == ".":
            return dot
        if word.startswith('"') or word.isdigit():
            return json.loads(word)
        if not word.startswith("."):
            raise ValueError(f"{word} is no value that this renderer knows")
        value = self._root
        for name in word[1:].split("."):
            value = value[name]
        return value


def render_chart(folder, changes, yaml, namespace="tritond"):
    """{file: [document]} of the chart in `folder`, with `changes` to its values."""
    values = merge(yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8")), changes)
    renderer = Renderer(yaml, values, namespace, folder)
    return {path.name: [one for one in yaml.safe_load_all(renderer.render(path.read_text(encoding="utf-8"))) if one]
            for path in sorted((folder / "templates").glob("*.yaml"))}
