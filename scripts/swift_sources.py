"""What scripts/check-layers, scripts/sizes and scripts/fuzz read in Swift files: imports, and functions with their lengths."""
import re

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|func|protocol|typealias|let|var)\s+)?(\w+)", re.MULTILINE)
# Comments and strings, which may hold braces and the words of `FUNCTION`.
NOISE = re.compile(r'#?"""(?:.|\n)*?"""#?|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
FUNCTION = re.compile(r"\b(?:func\s+(`[^`]*`|[^\s(<]+)|(init)[?!]?\s*[(<]|(deinit)\s*\{)")


def blank(match: re.Match) -> str:
    return "\n" * match.group().count("\n")


def function_lengths(text: str):
    """(name, first line, lines) of every function with a body."""
    text = NOISE.sub(blank, text)
    for match in FUNCTION.finditer(text):
        position, depth = match.end() - 1, 0
        while position < len(text):                       # to the body's brace, past the parameters
            character = text[position]
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == "{" and depth == 0:
                break
            if character == "}" or (character == "\n" and depth == 0 and not continues(text, position)):
                position = len(text)                      # a requirement of a protocol: no body
            position += 1
        depth = 0
        while position < len(text):
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            if depth == 0:
                first = text.count("\n", 0, match.start())
                yield next(filter(None, match.groups())), first + 1, text.count("\n", 0, position) - first + 1
                break
            position += 1


def continues(text: str, newline: int) -> bool:
    """A signature may go on behind its parameters: `) throws(X) -> Y where … {`."""
    following = text[newline + 1:].lstrip()[:6]
    return following.startswith(("->", "where", "throws", "{", "async"))
