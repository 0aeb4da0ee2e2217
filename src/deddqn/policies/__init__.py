"""Who chooses the strategy: one protocol, one file per policy."""

from deddqn.policies.files import PolicyFileError
from deddqn.policies.fixed import fixed, mixture, uniform_policy
from deddqn.policies.keras_import import import_keras
from deddqn.policies.policy import CompiledPolicy, Policy
from deddqn.policies.python_policy import FunctionPolicy, load_python_policy
from deddqn.policies.q_network import load_policy_file, network_policy, save_policy
from deddqn.policies.registry import best_policy, load_policy, policy_names, register_policy
from deddqn.policies.schedule import schedule_policy
from deddqn.policies.search_view import SearchView
from deddqn.policies.softmax import save_softmax, softmax_policy

__all__ = [
    "CompiledPolicy",
    "FunctionPolicy",
    "Policy",
    "PolicyFileError",
    "SearchView",
    "best_policy",
    "fixed",
    "import_keras",
    "load_policy",
    "load_policy_file",
    "load_python_policy",
    "mixture",
    "network_policy",
    "policy_names",
    "register_policy",
    "save_policy",
    "save_softmax",
    "schedule_policy",
    "softmax_policy",
    "uniform_policy",
]
