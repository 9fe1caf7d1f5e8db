"""What `concord grammar` can do: what is typed, and what each of its commands runs."""
