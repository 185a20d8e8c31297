#include <features.h>
#include <stun/stunagent.h>
#include <stun/stunmessage.h>
#include <stun/usages/ice.h>
