"""What missing judgments could change: bounds, what to judge next, and judges that are programs."""
