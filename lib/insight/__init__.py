"""What reports and deals say together: computed from answers of their clients, and apart from the screens."""
