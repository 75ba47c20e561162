"""What a model, a trace and a property is: immutable values without behaviour."""
