"""The speed layer: processes that answer within seconds, one package per stage."""
