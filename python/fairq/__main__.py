"""`python -m fairq` is `fairq`."""

from fairq.cli.program import program

if __name__ == "__main__":
    program()
