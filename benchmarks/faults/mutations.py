"""Files with random damage: bits flipped, parts cut out, doubled, swapped or replaced by what a parser may stumble over."""

import random

STUMBLING = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xc2\xb2",
        b"\n",
        b"\r",
        b"\t",
        b",",
        b'"',
        b"'",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"#",
        b"\\",
        b"\\u",
        b"-",
    ),
    *(
        b"1e999",
        b"NaN",
        b"-1",
        b"9" * 40,
        b"18446744073709551616",
        b"null",
        b"true",
        b"[" * 3000,
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xa8",
    ),
    *(b"<!--<script>", b"\x1b[31m", b"%s%n", b"../../x", b"&a [*a]", b"!!python/object:os.system"),
)


def flip_bit(content: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(content)
    damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def mutate(content: bytes, draw: random.Random) -> bytes:
    """One to three changes."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        content = draw.choice(CHANGES)(content, draw) if content else draw.choice(STUMBLING)
    return content


def _part(content: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(content))
    return start, min(start + draw.choice((1, 2, 8, 60)), len(content))


def _cut_off(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def _cut_out(content: bytes, draw: random.Random) -> bytes:
    start, end = _part(content, draw)
    return content[:start] + content[end:]


def _double(content: bytes, draw: random.Random) -> bytes:
    start, end = _part(content, draw)
    return content[:end] + content[start:end] * draw.choice((1, 2, 50)) + content[end:]


def _insert(content: bytes, draw: random.Random) -> bytes:
    start, end = _part(content, draw)
    return content[:start] + draw.choice(STUMBLING) + content[start if draw.random() < 0.5 else end :]


def _noise(content: bytes, draw: random.Random) -> bytes:
    start, end = _part(content, draw)
    return content[:start] + draw.randbytes(end - start) + content[end:]


def _exchange(content: bytes, draw: random.Random) -> bytes:
    (a, b), (c, d) = sorted((_part(content, draw), _part(content, draw)))
    return content if b > c else content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


CHANGES = (flip_bit, _cut_off, _cut_out, _double, _insert, _noise, _exchange)
