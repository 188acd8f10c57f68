import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findingsIn } from './syntax.ts'

const lines = (source: string): number[] => findingsIn(source).map((finding) => finding.line)

describe('a floating promise is found', () => {
  test('by the name of the function', () => {
    assert.deepEqual(lines(`// é\nimport { writeFile as write } from 'node:fs/promises'\nwrite('a', 'b')\n`), [3])
    assert.deepEqual(lines(`import { setTimeout } from 'node:timers/promises'\n\nsetTimeout(1)\n`), [3])
    assert.deepEqual(lines(`import { once } from 'node:events'\nonce(server, 'listening')\n`), [2])
  })

  test('by the module', () => {
    assert.deepEqual(lines(`import * as fs from 'node:fs/promises'\nfs.rm('a')\n`), [2])
    assert.deepEqual(lines(`import { promises as fs } from 'node:fs'\nfs.rm('a')\n`), [2])
  })

  test('on file handles', () => {
    const opened = `import { open } from 'node:fs/promises'\nconst file = await open('a')\nfile.close()\n`
    assert.deepEqual(lines(opened), [3])
    const field = 'class Staged {\n  readonly #file: FileHandle\n  end() {\n    this.#file.sync()\n  }\n}\n'
    assert.deepEqual(lines(field), [4])
    assert.deepEqual(lines('const end = (file: FileHandle) => {\n  file.close()\n}\n'), [2])
  })

  test('at the end of a query', () => {
    assert.deepEqual(lines(`tx.updateTable('blobs').set({ size: 1 }).executeTakeFirst()\n`), [1])
    assert.deepEqual(lines(`await tx.updateTable('blobs').set({ size: 1 }).execute()\n`), [])
  })

  test('in a chain without a catch', () => {
    assert.deepEqual(lines(`import { rm } from 'node:fs/promises'\nrm('a').then(done)\n`), [2])
    assert.deepEqual(lines(`import { rm } from 'node:fs/promises'\nrm('a').then(done).catch(report)\n`), [])
  })
})

test('a promise that is awaited, returned, kept or marked does not float', () => {
  const uses = ['await rm("a")', 'const f = () => rm("a")', 'const p = rm("a")', 'void rm("a")', 'list.push(rm("a"))']
  for (const use of uses) assert.deepEqual(lines(`import { rm } from 'node:fs/promises'\n${use}\n`), [])
  assert.deepEqual(lines(`import { rmSync } from 'node:fs'\nrmSync('a')\n`), [])
})

test('an import inside a type is found', () => {
  assert.deepEqual(lines(`export type Store = import('./store.ts').Store\n`), [1])
  assert.deepEqual(lines(`export const load = () => import('./store.ts')\n`), [])
})

test('a package that is loaded late is found', () => {
  assert.deepEqual(lines(`export const load = () => import('pino-pretty')\n`), [1])
  assert.deepEqual(lines(`\nconst { S3 } = await import('@aws-sdk/client-s3')\n`), [2])
  for (const late of [`import('./log.ts')`, `import('node:sqlite')`, 'import(where)'])
    assert.deepEqual(lines(`export const load = () => ${late}\n`), [])
})
