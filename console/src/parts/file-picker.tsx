import { Select } from '@mantine/core'
import { useState } from 'react'
import { useAsk } from '../contract/asking.ts'
import { shortBytes } from '../values/format.ts'
import { seen } from '../values/unseen.ts'
import { t } from '../words/words.ts'

export interface Picked {
  readonly id: string
  readonly name: string
}

/** A published file of a repository, found by a part of its name; the newest are offered first. */
export const FilePicker = ({
  repository,
  label,
  value,
  choose,
  but,
}: {
  readonly repository: string
  readonly label: string
  readonly value: Picked | null
  readonly choose: (file: Picked | null) => void
  /** The one that cannot be it. */
  readonly but: string
}) => {
  const [text, setText] = useState('')
  const found = useAsk('searchArtifacts', {
    path: { repository },
    query: { order: 'desc', ...(text === '' || text === value?.name ? {} : { q: text }) },
  })
  const files = (found.data?.items ?? []).filter(({ id }) => id !== but && id !== value?.id)
  return (
    <Select
      label={label}
      placeholder={t('attach.find')}
      value={value?.id ?? null}
      data={[
        ...(value === null ? [] : [{ value: value.id, label: value.name }]),
        ...files.map(({ id, name, size }) => ({ value: id, label: `${seen(name)} · ${shortBytes(Number(size))}` })),
      ]}
      onChange={(id) => {
        const file = files.find((each) => each.id === id)
        choose(file === undefined ? null : { id: file.id, name: file.name })
      }}
      onSearchChange={setText}
      filter={({ options }) => options}
      nothingFoundMessage={t('list.nothing')}
      searchable
      clearable
    />
  )
}
