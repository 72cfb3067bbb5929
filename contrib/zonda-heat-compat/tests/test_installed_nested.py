"""Heat's own type that is a stack inside a stack, with templates in the place of its members."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

VERSION = "heat_template_version: 2018-08-31\n"
FILES = {
    "balancer.yaml": """
parameters: {port: {type: number, default: 80}}
resources:
  balancer:
    type: AWS::ElasticLoadBalancing::LoadBalancer
    properties:
      AvailabilityZones: [nova]
      Listeners: [{InstancePort: {get_param: port}, LoadBalancerPort: 80, Protocol: HTTP}]
outputs: {address: {value: {get_attr: [balancer, DNSName]}}}
""",
    "instance.yaml": """
parameters:
  ImageId: {type: string}
  InstanceType: {type: string}
  SecurityGroups: {type: comma_delimited_list, default: []}
  UserData: {type: string}
resources: {address: {type: OS::Heat::Value, properties: {value: 10.0.0.9}}}
outputs:
  PublicIp: {value: {get_attr: [address, value]}}
  AvailabilityZone: {value: nova}
  PrivateDnsName: {value: one}
  PublicDnsName: {value: one}
  PrivateIp: {value: 10.0.0.9}
""",
    "user.yaml": "resources: {user: {type: OS::Heat::Value, properties: {value: x}}}\n",
    "key.yaml": """
parameters: {UserName: {type: string}}
resources: {key: {type: OS::Heat::Value, properties: {value: {get_param: UserName}}}}
outputs: {SecretAccessKey: {value: s}, UserName: {value: {get_param: UserName}}}
""",
    "environment.yaml": """
resource_registry:
  AWS::EC2::Instance: instance.yaml
  AWS::IAM::User: user.yaml
  AWS::IAM::AccessKey: key.yaml
  AWS::CloudWatch::Alarm: OS::Heat::None
  AWS::CloudFormation::WaitCondition: OS::Heat::None
""",
}


@pytest.mark.filterwarnings("ignore")
def test_a_load_balancer_of_instances_lives(tmp_path: Path) -> None:
    for name, text in FILES.items():
        head = "" if name.startswith("environment") else VERSION
        (tmp_path / name).write_text(head + text)

    def run(*words: str) -> str:
        environment = {**os.environ, "ZONDA_HOME": str(tmp_path / "home")}
        environment = {key: each for key, each in environment.items() if not key.startswith("OS_")}
        done = subprocess.run(
            [sys.executable, "-m", "zonda", "stack", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    given = ("-t", "balancer.yaml", "-e", "environment.yaml", "lb")
    run("create", *given)
    assert "10.0.0.9" in run("output", "show", "lb", "address")
    assert "LB_instance" in run("resource", "list", "lb", "-n", "2")
    run("update", *given, "--parameter", "port=81")
    run("delete", "--yes", "lb")
