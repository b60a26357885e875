"""Around every screen: sign-in, header, messages, waiting, text that is not ours."""
