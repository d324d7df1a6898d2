"""Write docs/kernels.md and its pictures.

Usage: python -m tools.gallery [--check] [--text]

With --check nothing is written; the exit status says whether the text is up to date and every
picture exists. With --text the pictures are left alone.
"""

import sys

from .page import PAGE, PICTURES, page
from .portraits import portraits


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    text = page()
    lost = [name for name in portraits() if not (PICTURES / f"{name}.svg").exists()]
    if "--check" in arguments:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
        if stale:
            print("docs/kernels.md is out of date: run 'make gallery'")
        if lost:
            print("pictures that do not exist:", ", ".join(lost))
        return int(stale or bool(lost))
    PAGE.write_text(text, encoding="utf-8")
    if "--text" not in arguments:
        from .pictures import draw

        draw(PICTURES)
    print(f"{PAGE.name}: {len(portraits())} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
