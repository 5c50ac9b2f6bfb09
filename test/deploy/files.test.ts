/** What lies in `deploy`: read by those who would read it, and of one mind with the package and the server. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SERVER_DEFAULTS } from '../../src/adapters/http/server-options.js';
import { loadConfigFile } from '../../src/cli/config-file.js';
import { runHere } from '../cli/run-here.js';

const read = (path: string) => readFileSync(path, 'utf8');
const json = (path: string) => JSON.parse(read(path));
const { winnow } = parse(read('deploy/compose.yaml')).services;
const [deployment, service] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one) => one.toJSON());
const [container] = deployment.spec.template.spec.containers;

describe('the files of deploy', () => {
  it('hold a configuration, a policy and a catalogue that Winnow takes', async () => {
    const config = await loadConfigFile('deploy/winnow.yaml');
    expect(config.catalog).toEqual([expect.stringMatching(/deploy\/catalog\.json$/u)]);
    const policy = ['policy', 'check', String(config.policy), '--catalog', 'deploy/catalog.json'];
    expect(await runHere(policy)).toMatchObject({ exitCode: 0 });
  });

  it('install the packages that the tests run with, and leave the local runtime out', () => {
    const { dependencies, overrides } = json('deploy/image/package.json');
    const { devDependencies, peerDependencies, optionalDependencies } = json('package.json');
    for (const [name, version] of Object.entries(dependencies)) {
      expect([name, devDependencies[name]]).toEqual([name, version]);
      expect(Object.keys(peerDependencies)).toContain(name);
    }
    expect(Object.keys(overrides).sort()).toEqual(Object.keys(optionalDependencies).sort());
  });

  it('let the image have what the package has', () => {
    const context = read('.dockerignore').split('\n');
    const { files } = json('package.json');
    for (const file of files.filter((one: string) => one !== 'dist'))
      expect(context.some((line) => line.startsWith('!') && join(file, '/').startsWith(join(line.slice(1), '/')))).toBe(
        true,
      );
  });

  it('give the variables that the configuration names', async () => {
    const { auth } = await loadConfigFile('deploy/winnow.yaml');
    for (const { env } of auth?.tokens ?? []) {
      expect(winnow.environment[env]).toMatch(/^\$\{/u);
      expect(read('deploy/kubernetes.yaml')).toContain(`--from-literal=${env}=`);
      expect(read('deploy/winnow.service')).toContain(env);
    }
  });

  it('wait longer for a stop than running requests may take', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/mu.exec(read('deploy/winnow.service')) ?? [];
    const [, sleep] = container.lifecycle.preStop.exec.command;
    const waits = [
      Number(seconds),
      Number.parseInt(winnow.stop_grace_period, 10),
      deployment.spec.template.spec.terminationGracePeriodSeconds - sleep,
    ];
    for (const wait of waits) expect(wait * 1_000).toBeGreaterThan(SERVER_DEFAULTS.stopTimeoutMs);
  });

  it('probe paths of the server on the port of the image, by an account that may do little', () => {
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: 'http' },
      { path: '/healthz', port: 'http' },
      { path: '/readyz', port: 'http' },
    ]);
    const [port] = container.ports;
    expect(read('Dockerfile')).toContain(`EXPOSE ${port.containerPort}\n`);
    expect(service.spec.ports[0].targetPort).toBe(port.name);
    expect(deployment.spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
  });

  const systemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  (systemd ? it : it.skip)(`are a unit that systemd takes${systemd ? '' : ' (skipped: it is not installed)'}`, () => {
    const verify = (unit: string) =>
      spawnSync('sh', ['-c', 'd=$(mktemp -d) && cat > $d/w.service && systemd-analyze verify $d/w.service; rm -r $d'], {
        input: unit.replace('/usr/local/bin/winnow', process.execPath),
        encoding: 'utf8',
      }).stderr;
    const unit = read('deploy/winnow.service');
    expect(verify(unit)).toBe('');
    expect(verify(unit.replace('Restart=', 'Restrat='))).toContain('Restrat');
  });
});
