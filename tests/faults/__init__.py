"""What the desk does when services elsewhere fail, by a proxy that makes them fail."""
