"""What `concord sets` can do, a file each: a parser and what it runs."""
