"""What the desk does when remote services fail, by a proxy that makes them fail."""
