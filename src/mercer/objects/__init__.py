"""Objects that kernels compare: kinds, validation, tables, vocabularies. Knows no kernel."""
