"""Untrusted names, made harmless in one place for each medium: a terminal, a spreadsheet, Markdown."""

# Symbols for control characters, instead of what they do to a terminal; newlines and tabs stay.
PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
PICTURES |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    """For a terminal: nothing in it moves the cursor or changes colours."""
    return text.translate(PICTURES)


def csv_cell(text: str) -> str:
    """For a table opened in a spreadsheet: text that would be read as a formula stays text."""
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def markdown_cell(text: str) -> str:
    """For one cell of a Markdown table: on one line, with no cell border inside."""
    return " ".join(text.splitlines()).replace("|", "\\|")


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True
