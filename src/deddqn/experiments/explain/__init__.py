"""Why a policy does what it does."""
