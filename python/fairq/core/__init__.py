"""What all rooms stand on: errors, tables, results, runs, quantities, output and progress."""
