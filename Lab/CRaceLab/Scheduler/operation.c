#include "Scheduler/operation.h"

#ifndef RL_WITHOUT_HOOKS

static rl_service *services;

void rl_add_service(rl_service *service) {
    service->next = services;
    services = service;
}

const rl_service *rl_services(void) { return services; }

#endif
