import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sitDownWithGit } from './git-desks.ts'
import { startImageClients, writeLayout } from './image-clients.ts'
import { runProgram } from './processes.ts'

/** What the page for setting up a client gives, and where it is pasted. */
export interface Pasted {
  /** The block as it was copied. */
  readonly block: string
  /** The token in it; those for build servers name a secret that holds it. */
  readonly token: string
  readonly address: string
  readonly folder: string
}

type Shell = readonly [command: string, ...args: string[]]

const terminal: Shell = ['bash', '-euo', 'pipefail', '-c']

/** Runs what was pasted, as a terminal would, but stops where something fails. Answers what it said. */
const run = async (
  block: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
  [command, ...args] = terminal,
): Promise<string> => {
  const its = { HOME: folder, ...environment }
  const { code, stdout, stderr } = await runProgram(command, [...args, block], its, { cwd: folder })
  assert.equal(code, 0, `${block}\n${stdout}${stderr}`)
  return stdout + stderr
}

/** The commands in a block of YAML, below the line that announces them. */
const commandsIn = (block: string, announced: RegExp): string => {
  const lines = block.split('\n')
  const from = lines.findIndex((line) => announced.test(line)) + 1
  assert.ok(from > 0, block)
  const indent = /^ */.exec(lines[from] ?? '')?.[0] ?? ''
  const end = lines.findIndex((line, index) => index >= from && !line.startsWith(indent))
  return lines
    .slice(from, end < 0 ? undefined : end)
    .map((line) => line.slice(indent.length))
    .join('\n')
}

const curl = async ({ block, folder }: Pasted): Promise<void> => {
  assert.match(await run(block, folder, {}), /Hello, world/)
}

/** podman, which takes the same commands, in the place of docker. What the block pushes was made before. */
const docker = async ({ block, folder, address }: Pasted): Promise<void> => {
  const { host } = new URL(address)
  const clients = await startImageClients(host)
  try {
    const layout = join(folder, 'layout')
    await writeLayout(layout, [{ architecture: 'amd64', layers: [Buffer.from('hello')] }])
    await clients.run('skopeo', 'copy', `oci:${layout}:made`, 'containers-storage:localhost/hello:latest')
    const bin = join(folder, 'bin')
    await mkdir(bin)
    const stand = '#!/bin/sh\nexec podman --events-backend=file --cgroup-manager=cgroupfs "$@"\n'
    await writeFile(join(bin, 'docker'), stand, { mode: 0o755 })
    const said = await run(block, folder, { ...clients.environment, PATH: `${bin}:${process.env['PATH']}` })
    assert.match(said, /Login Succeeded/)
    await clients.run('skopeo', 'inspect', '--raw', `docker://${host}/releases/hello:1.0`)
  } finally {
    await clients[Symbol.asyncDispose]()
  }
}

/**
 * npm hands its own settings on to what it runs: without a file of its own, the block would write into those of whoever
 * runs the tests.
 */
const npm = async ({ block, folder, address }: Pasted): Promise<void> => {
  const settings = join(folder, '.npmrc')
  await writeFile(settings, '')
  assert.match(await run(block, folder, { npm_config_userconfig: settings }), /PONG/)
  assert.match(await readFile(settings, 'utf8'), new RegExp(`^registry=${address}/npm/releases/$`, 'm'))
}

const lfs = async ({ block, folder }: Pasted): Promise<void> => {
  const desk = await sitDownWithGit('pasted')
  try {
    const remote = join(folder, 'remote.git')
    await desk.git(folder, 'init', '--bare', remote)
    const work = await desk.clone(remote, 'work')
    await run(block, work, desk.environment)
    await desk.commit(work, { 'large.bin': 'what Git does not keep' })
    assert.match(await desk.git(work, 'lfs', 'ls-files'), /large\.bin/)
    await desk.git(work, 'push', 'origin', 'HEAD:main')
    const fresh = await desk.clone(remote, 'fresh')
    assert.equal(await readFile(join(fresh, 'large.bin'), 'utf8'), 'what Git does not keep')
  } finally {
    await desk[Symbol.asyncDispose]()
  }
}

/** A build server gives its job the secret, and says what it builds: its project and the commit. */
const onServer =
  (shell: Shell, announced: RegExp, project: string, commit: string) =>
  async ({ block, folder, token, address }: Pasted): Promise<void> => {
    await writeFile(join(folder, 'README.md'), 'what a build made')
    const told = { SVC_TOKEN: token, [project]: 'acme/app', [commit]: '3f1c9a0' }
    await run(commandsIn(block, announced), folder, told, shell)
    const stored = await fetch(`${address}/api/v1/repositories/releases/raw/acme/app/3f1c9a0/README.md`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(await stored.text(), 'what a build made')
  }

/** How each block is run where it belongs; each fails where the block does not work as it was pasted. */
export const blocks = {
  curl,
  docker,
  npm,
  lfs,
  github: onServer(['bash', '-e', '-c'], /- run: \|$/, 'GITHUB_REPOSITORY', 'GITHUB_SHA'),
  gitlab: onServer(['sh', '-e', '-c'], /- \|$/, 'CI_PROJECT_PATH', 'CI_COMMIT_SHA'),
} as const
