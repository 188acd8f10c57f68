import { readFile, writeFile } from 'node:fs/promises'
import { wordTypes } from '../console/build/words.ts'
import { consoleContract } from './reference/console-contract.ts'
import { operationsPage, settingsPage } from './reference/pages.ts'

/** Writes the generated pages; with `--check` says which of them is out of date and ends with 1. */
const pages = {
  'docs/reference/settings.md': settingsPage(),
  'docs/reference/operations.md': operationsPage(),
  'console/src/contract/generated.ts': consoleContract(),
  'console/src/words/ids.ts': wordTypes('console/src/words'),
}

for (const [path, text] of Object.entries(pages)) {
  if (process.argv.includes('--check')) {
    const current = await readFile(path, 'utf8').catch(() => '')
    if (current === text) continue
    console.error(`${path} is out of date; run npm run reference`)
    process.exitCode = 1
  } else {
    await writeFile(path, text)
    console.log(`wrote ${path}`)
  }
}
