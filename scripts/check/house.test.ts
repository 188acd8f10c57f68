import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  handlersWithOtherNames,
  longerThan,
  missingPaths,
  pathsNamedIn,
  unitsDefinedAgain,
  widerComments,
} from './house.ts'

describe('the house', () => {
  test('refuses a file that is longer than it may be', () => {
    const files = [
      { path: 'short.test.ts', text: 'line\n'.repeat(500) },
      { path: 'long.test.ts', text: 'line\n'.repeat(501) },
    ]
    assert.deepEqual(longerThan(500, files), ['long.test.ts (501 lines)'])
  })

  test('refuses a comment that is wider than it may be', () => {
    const words = 'word '.repeat(24)
    const text = `/** ${words}*/\n/**\n * ${words}\n */\n  // ${words}\nconst code = '${words}'\n// short\n${'*'.repeat(121)}\n`
    assert.deepEqual(widerComments(120, [{ path: 'wide.ts', text }]), ['wide.ts:1', 'wide.ts:3', 'wide.ts:5'])
  })

  test('refuses handlers that give operations other names', () => {
    const imported = "import * as operations from './operations.ts'\n"
    const files = [
      { path: 'good/handlers.ts', text: `${imported}handle(operations.getThing, get)\n` },
      { path: 'bare/handlers.ts', text: "import { getThing } from './operations.ts'\nhandle(getThing, get)\n" },
      { path: 'mixed/handlers.ts', text: `${imported}handle(operations.getThing, get)\nhandle(other, get)\n` },
      { path: 'renamed/handlers.ts', text: "import * as all from './operations.ts'\nhandle(all.getThing, get)\n" },
    ]
    assert.deepEqual(handlersWithOtherNames(files), ['bare/handlers.ts', 'mixed/handlers.ts', 'renamed/handlers.ts'])
  })

  test('refuses a unit that is defined again', () => {
    const files = [
      { path: 'hours.ts', text: 'const one = 1\nconst hourMs = 3_600_000\n' },
      { path: 'sizes.ts', text: '  const MiB = 1024 * 1024\nconst GiB = 1024 ** 3\n' },
      { path: 'days.ts', text: 'const day = 24 * 3_600_000\n' },
      {
        path: 'fine.ts',
        text: "import { hour } from './units.ts'\nconst graceMs = 3 * hour\nconst day = days.at(-1)\n",
      },
    ]
    assert.deepEqual(unitsDefinedAgain(files), ['hours.ts: hour', 'sizes.ts: MiB', 'sizes.ts: GiB', 'days.ts: day'])
  })

  test('refuses a document that names paths which are not there', () => {
    const files = ['src/kernel/page.ts', 'src/http/pipeline/pipeline.ts', 'test/harness/until.ts']
    const document = [
      'A page (`kernel/page.ts`), the pipeline (`src/http/pipeline/`, `pipeline.ts`) and `test/harness`.',
      'Words in `code`, `<noun>.ts`, `*.queries.ts`, `npm test` and `Content-Type: text/plain` are no paths.',
      'Gone: `kernel/pages.ts`, `http/pipelines/`, `test/harness/till.ts`, `gone.ts`.',
    ].join('\n')
    assert.deepEqual(pathsNamedIn(document).slice(0, 4), [
      'kernel/page.ts',
      'src/http/pipeline/',
      'pipeline.ts',
      'test/harness',
    ])
    assert.deepEqual(missingPaths(document, files), [
      'kernel/pages.ts',
      'http/pipelines/',
      'test/harness/till.ts',
      'gone.ts',
    ])
  })
})
