include "ScaleBase.td"
include "ScaleOps.td"
