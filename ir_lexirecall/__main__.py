"""``python -m ir_lexirecall``."""

from ir_lexirecall.cli import main

raise SystemExit(main())
