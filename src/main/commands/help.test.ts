import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Command } from 'commander'
import { commandLine } from './program.ts'

const leaves = (command: Command, words: readonly string[]): { words: readonly string[]; command: Command }[] =>
  command.commands.length === 0
    ? [{ words, command }]
    : command.commands.flatMap((each) => leaves(each, [...words, each.name()]))

const helpOf = (command: Command): string => {
  let text = ''
  command.configureOutput({
    writeOut: (more) => {
      text += more
    },
  })
  command.outputHelp()
  return text
}

describe('the help of every command', () => {
  const all = leaves(commandLine(), ['svc'])

  it('is there for every one that there is', () => {
    assert.ok(all.length > 40, `${all.length} commands`)
    for (const { command, words } of all) assert.match(command.description(), /^[a-z].*[^.]$/, words.join(' '))
  })

  for (const { words, command } of all)
    it(`of ${words.join(' ')} ends with an example that it takes`, async () => {
      const [, line = ''] = /\nExample:\n {2}(svc .+)\n$/.exec(helpOf(command)) ?? []
      const typed = line.split(' < ')[0]?.split(' ') ?? []
      assert.deepEqual(typed.slice(0, words.length), words, line)
      // The same command line, told to do nothing: it refuses what it does not know.
      const program = commandLine()
      let ran = ''
      for (const each of leaves(program, ['svc']))
        each.command.action(() => {
          ran = each.words.join(' ')
        })
      for (const each of [program, ...program.commands, ...leaves(program, []).map((leaf) => leaf.command)])
        each.exitOverride().configureOutput({ writeErr: (text) => assert.fail(text) })
      await program.parseAsync(['node', ...typed])
      assert.equal(ran, words.join(' '))
    })

  it('of options says what they are for', () => {
    for (const { command, words } of all)
      for (const option of command.options) assert.notEqual(option.description, '', `${words.join(' ')} ${option.long}`)
  })
})
