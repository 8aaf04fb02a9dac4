"""Pictures: where they lie, what is known of them, and how they become pixels."""
