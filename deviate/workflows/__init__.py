"""Tasks that combine several packages, one file each; nothing here prints or exits. `pipeline` combines them."""
