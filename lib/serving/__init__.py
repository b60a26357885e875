"""What runs the desk: connections, the server's front, remote services, operations, checks, backups."""
