import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isConflict } from '../../contract/problem.ts'
import { Icon } from '../../look/icons.tsx'
import { Changed } from '../../parts/changed.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { FilePicker, type Picked } from '../../parts/file-picker.tsx'
import { tell } from '../../parts/toasts.tsx'
import { shownAs } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import { type Attachment, kinds, mergedAttachments } from './attached.ts'
import type { Of } from './of.ts'

const kindData = () => kinds.map((value) => ({ value, label: said('attach.kind', value) }))

/** What is attached to a build, as a list that grows and shrinks; all of it is saved at once. */
export const EditAttachments = ({
  repository,
  id,
  base: first,
  close,
}: Of & { readonly base: Answer<'getAttachments'>; readonly close: () => void }) => {
  const [base, setBase] = useState(first)
  const [items, setItems] = useState<readonly Attachment[]>(first.items)
  const [clashes, setClashes] = useState<readonly string[] | null>(null)
  const put = useChange('putAttachments', ['getAttachments', 'listAttachmentHistory', 'explainArtifact'])
  const now = useAsk('getAttachments', { path: { repository, id } })
  const save = async (): Promise<void> => {
    try {
      const body = { expectedRevision: base.revision, items: [...items] }
      await put.mutateAsync({ path: { repository, id }, body })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isConflict(error)) return
      const { data } = await now.refetch()
      if (data === undefined) return
      const both = mergedAttachments(base.items, items, data.items)
      setBase(data)
      setItems(both.items)
      setClashes(both.clashes)
    }
  }
  const change = (at: number, next: Partial<Attachment>): void =>
    setItems(items.map((item, index) => (index === at ? { ...item, ...next } : item)))
  return (
    <FormDialog
      title={t('artifact.attached')}
      open
      close={close}
      submit={() => void save()}
      label={t('dialog.save')}
      busy={put.isPending}
      error={clashes === null ? put.error : null}
      size="lg"
    >
      {clashes === null ? null : (
        <Changed>
          <p>{clashes.length === 0 ? t('conflict.merged') : t('conflict.both', { keys: clashes.join(', ') })}</p>
        </Changed>
      )}
      {items.length === 0 ? <p className="muted">{t('attach.none')}</p> : null}
      <ul className="lines">
        {items.map((item, at) => (
          <li key={item.name} className="attachment">
            <strong>{shownAs(item.name)}</strong>
            <Select
              aria-label={t('attach.kindOf', { name: item.name })}
              data={kindData()}
              value={item.kind}
              allowDeselect={false}
              onChange={(kind) => change(at, { kind: kinds.find((each) => each === kind) ?? 'file' })}
            />
            <TextInput
              aria-label={t('attach.aboutOf', { name: item.name })}
              placeholder={t('attach.about')}
              value={item.description}
              onChange={(event) => change(at, { description: event.currentTarget.value })}
            />
            <button
              type="button"
              className="plain"
              aria-label={t('attach.take', { name: item.name })}
              onClick={() => setItems(items.filter((_, index) => index !== at))}
            >
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ul>
      <Add
        repository={repository}
        id={id}
        taken={items.map(({ name }) => name.toLowerCase())}
        add={(item) => setItems([...items, item])}
      />
    </FormDialog>
  )
}

const Add = ({
  repository,
  id,
  taken,
  add,
}: Of & { readonly taken: readonly string[]; readonly add: (item: Attachment) => void }) => {
  const [file, setFile] = useState<Picked | null>(null)
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Attachment['kind']>('file')
  const isTaken = taken.includes(name.trim().toLowerCase())
  return (
    <fieldset className="form attach">
      <legend>{t('attach.another')}</legend>
      <FilePicker
        repository={repository}
        label={t('attach.file')}
        value={file}
        but={id}
        choose={(picked) => {
          setFile(picked)
          if (picked !== null && name === '') setName(picked.name)
        }}
      />
      <TextInput
        label={t('list.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={isTaken ? t('attach.taken') : null}
      />
      <Select
        label={t('attach.what')}
        data={kindData()}
        value={kind}
        allowDeselect={false}
        onChange={(next) => setKind(kinds.find((each) => each === next) ?? 'file')}
      />
      <div>
        <Button
          variant="default"
          leftSection={<Icon name="plus" />}
          disabled={file === null || name.trim() === '' || isTaken}
          onClick={() => {
            if (file === null) return
            add({ name: name.trim(), kind, artifactId: file.id, description: '' })
            setFile(null)
            setName('')
          }}
        >
          {t('attach.add')}
        </Button>
      </div>
    </fieldset>
  )
}
