"""`python -m fairq.cli` is `fairq`, too."""

from fairq.cli.program import program

if __name__ == "__main__":
    program()
