include "PlanOps.td"
