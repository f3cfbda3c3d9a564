"""What every layer uses: arrays, errors, progress, and what is loaded late."""
