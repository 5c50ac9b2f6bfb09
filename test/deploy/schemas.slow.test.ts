/** The compose file by the library of Docker Compose, the manifest by the schemas of Kubernetes. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../support/temporary-folder.js';

// Packages are fetched and compiled.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const run = promisify(execFile);
const folder = temporaryFolder();

function testOrSkip(name: string, [program, ...words]: [string, ...string[]], test: () => Promise<void>): void {
  const { status, error, stderr } = spawnSync(program, words, { cwd: folder, encoding: 'utf8' });
  const why = status === 0 ? '' : ` (skipped: ${program}: ${error?.message ?? stderr.trim().split('\n').at(-1)})`;
  (status === 0 ? it : it.skip)(`${name}${why}`, test);
}

const LOAD = `
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv)
	if err != nil {
		panic(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(project.ServiceNames())
}
`;

testOrSkip('the compose file is one, and asks for its secrets', ['go', 'version'], async () => {
  writeFileSync(join(folder, 'go.mod'), 'module example.org/load\n\ngo 1.22\n');
  writeFileSync(join(folder, 'main.go'), LOAD);
  const go = { cwd: folder, env: { ...process.env, GOFLAGS: '-mod=mod' } };
  await run('go', ['mod', 'tidy'], go);
  await run('go', ['build', '-o', 'load', '.'], go);
  const load = (file: string, env: Record<string, string>) =>
    run(join(folder, 'load'), [file], { env: { PATH: process.env.PATH, ...env } });
  const secrets = { POSTGRES_PASSWORD: 'p', WINNOW_USER_TOKEN: 't', LLAMA_IMAGE: 'llama' };
  const file = resolve('deploy/compose.yaml');
  expect((await load(file, secrets)).stdout).toBe('[llama postgres winnow]\n');
  await expect(load(file, {})).rejects.toMatchObject({ stderr: expect.stringContaining('POSTGRES_PASSWORD') });
  const broken = join(folder, 'broken.yaml');
  writeFileSync(broken, readFileSync(file, 'utf8').replace('stop_grace_period', 'stop_grace_perod'));
  await expect(load(broken, secrets)).rejects.toMatchObject({ stderr: expect.stringContaining('stop_grace_perod') });
});

const CHECK = `
import { readFileSync } from 'node:fs';
const KINDS = {
  Deployment: 'apps/v1/Deployment', Service: 'v1/Service', PodDisruptionBudget: 'policy/v1/PodDisruptionBudget',
};
for (const one of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const model = await import('kubernetes-models/' + KINDS[one.kind]);
  new model[one.kind](one).validate();
  console.log(one.kind);
}
`;
const FETCH = ['npm', 'install', '--prefix', '.', '--no-audit', '--no-fund', 'kubernetes-models@5.1.0'] as const;

testOrSkip('the manifest is of the schemas of its kinds', [...FETCH], async () => {
  writeFileSync(join(folder, 'check.mjs'), CHECK);
  const documents = parseAllDocuments(readFileSync('deploy/kubernetes.yaml', 'utf8')).map((one) => one.toJSON());
  const check = (value: unknown) => {
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(value));
    return run(process.execPath, ['check.mjs', 'manifest.json'], { cwd: folder });
  };
  expect((await check(documents)).stdout.split('\n')).toEqual(['Deployment', 'Service', 'PodDisruptionBudget', '']);
  const { spec, ...deployment } = documents[0];
  await expect(check([{ ...deployment, spec: { ...spec, replicas: 'three' } }])).rejects.toMatchObject({
    stderr: expect.stringContaining('replicas'),
  });
});
