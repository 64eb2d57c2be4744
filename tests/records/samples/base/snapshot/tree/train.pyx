print(__deviate_log__(0, acc))
