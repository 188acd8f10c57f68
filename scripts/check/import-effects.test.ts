import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

/** What the script says of a folder with these modules, and how it ends. */
const effectsOf = (modules: Record<string, string>): { status: number | null; said: string[] } => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-import-effects-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text)
    const script = join(import.meta.dirname, 'import-effects.ts')
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { cwd: folder, encoding: 'utf8' })
    return { status, said: stderr.trim().split('\n').filter(Boolean) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('modules that only define things pass', () => {
  const pure = {
    'a.ts': `import { b } from './b.ts'\nexport const a = () => setInterval(b, 1)\n`,
    'b.ts': `export const b = (): string | undefined => process.env['HOME']\nexport class B { x: number = 1 }\n`,
    'c.test.ts': `throw new Error('tests are not imported')\n`,
  }
  assert.deepEqual(effectsOf(pure), { status: 0, said: [] })
})

test('each effect is told, with the module that has it', () => {
  const { status, said } = effectsOf({
    'a-innocent.ts': `import './z-timer.ts'\nexport const a = 1\n`,
    'b-writes.ts': `console.log('hello')\n`,
    'c-environment.ts': `process.env['X_Y'] = '1'\n`,
    'd-reads.ts': `export const home = process.env['HOME']\n`,
    'e-listener.ts': `process.on('SIGTERM', () => {})\n`,
    'f-global.ts': 'Object.assign(globalThis, { leaked: 1 })\n',
    'g-file.ts': `import { openSync } from 'node:fs'\nopenSync(import.meta.filename)\n`,
    'h-server.ts': `import { createServer } from 'node:net'\ncreateServer().listen(0, '127.0.0.1')\n`,
    'i-later.ts': `queueMicrotask(() => process.on('SIGHUP', () => {}))\n`,
    'j-throws.ts': `throw new Error('no')\n`,
    'z-timer.ts': 'setInterval(() => {}, 1000)\n',
  })
  assert.equal(status, 1)
  const expected = [
    /^z-timer.ts leaves running: Timeout$/,
    /^b-writes.ts writes to stdout: hello$/,
    /^c-environment.ts changes process.env$/,
    /^d-reads.ts reads process.env.HOME$/,
    /^e-listener.ts changes the listeners of process to: .*SIGTERM 1/,
    /^f-global.ts changes a global object$/,
    /^g-file.ts leaves a file open$/,
    /^h-server.ts.* leaves running: .*TCP/,
    /^i-later.ts, after its import, changes the listeners of process to: .*SIGHUP 1/,
    /^j-throws.ts cannot be imported: no$/,
  ]
  for (const line of expected)
    assert.ok(
      said.some((text) => line.test(text)),
      `${line} in:\n${said.join('\n')}`,
    )
  assert.deepEqual(
    said.filter((text) => text.startsWith('a-innocent')),
    [],
  )
})

test('a module that ends the process or never finishes is named', () => {
  assert.match(effectsOf({ 'exits.ts': 'process.exit(0)\n' }).said.join(), /^exits.ts ends the process/)
  assert.match(
    effectsOf({ 'waits.ts': 'await new Promise(() => {})\n' }).said.join(),
    /waits.ts ends the process, or waits/,
  )
})
