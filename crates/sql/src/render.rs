//! From the model back to SQL text: literals, expressions, INSERTs and CREATE TABLEs per dialect.
