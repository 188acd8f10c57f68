import { NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isConflict } from '../../contract/problem.ts'
import { Changed } from '../../parts/changed.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { wholeDays } from '../../values/format.ts'
import { said, t } from '../../words/words.ts'
import type { Of } from './of.ts'

type StoragePolicy = Answer<'getStoragePolicy'>['policy']

const groupings = ['package-channel', 'package', 'repository'] as const

const groupingOf = (text: string | null): StoragePolicy['grouping'] =>
  groupings.find((each) => each === text) ?? 'package'

/** The policy as a form. */
export const EditPolicy = ({
  repository,
  now,
  close,
}: Of & { readonly now: Answer<'getStoragePolicy'>; readonly close: () => void }) => {
  const [policy, setPolicy] = useState(now.policy)
  const [revision, setRevision] = useState(now.revision)
  const [channels, setChannels] = useState(now.policy.channels.map(({ label, keepLast }) => `${label}=${keepLast}`))
  const [theirs, setTheirs] = useState(false)
  const read = useAsk('getStoragePolicy', { path: { repository } })
  const put = useChange('putStoragePolicy', ['getStoragePolicy', 'previewStorageRun'])
  const submit = async (): Promise<void> => {
    const body = {
      ...policy,
      channels: channels.map((each) => {
        const [label = '', keep = '1'] = each.split('=')
        return { label, keepLast: Number(keep) || 1 }
      }),
    }
    try {
      await put.mutateAsync({ path: { repository }, body: { expectedRevision: revision, policy: body } })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isConflict(error)) return
      const { data } = await read.refetch()
      if (data !== undefined) setRevision(data.revision)
      setTheirs(true)
    }
  }
  const number = (
    key: 'keepLast' | 'minAgeHours' | 'intervalMinutes' | 'warningPercent' | 'criticalPercent',
    label: string,
  ) => (
    <NumberInput
      label={label}
      value={policy[key]}
      onChange={(value) => setPolicy({ ...policy, [key]: Number(value) })}
      min={0}
      allowDecimal={false}
    />
  )
  return (
    <FormDialog
      title={t('storage.policy')}
      open
      close={close}
      submit={() => void submit()}
      label={t('dialog.save')}
      busy={put.isPending}
      error={theirs ? null : put.error}
    >
      {theirs ? (
        <Changed>
          <p>
            {t('conflict.policy', {
              sentence: t('storage.sentence', {
                keep: read.data?.policy.keepLast ?? 0,
                grouping: said('storage.grouping', read.data?.policy.grouping ?? ''),
                ...wholeDays(read.data?.policy.minAgeHours ?? 0),
              }),
            })}
          </p>
        </Changed>
      ) : null}
      <Switch
        label={t('storage.enabled')}
        checked={policy.enabled}
        onChange={(event) => setPolicy({ ...policy, enabled: event.currentTarget.checked })}
      />
      <Select
        label={t('storage.by')}
        allowDeselect={false}
        value={policy.grouping}
        onChange={(value) => setPolicy({ ...policy, grouping: groupingOf(value) })}
        data={groupings.map((value) => ({ value, label: said('storage.grouping', value) }))}
      />
      {number('keepLast', t('storage.keep'))}
      {number('minAgeHours', t('storage.age'))}
      {number('intervalMinutes', t('storage.interval'))}
      <TagsInput
        label={t('storage.channels')}
        description={t('storage.channelsHow')}
        value={channels}
        onChange={setChannels}
      />
      <TagsInput
        label={t('storage.protected')}
        value={policy.protectedLabels}
        onChange={(protectedLabels) => setPolicy({ ...policy, protectedLabels })}
      />
      <TextInput
        label={t('storage.quotaBytes')}
        description={t('storage.quotaEmpty')}
        value={policy.quotaBytes ?? ''}
        onChange={(event) =>
          setPolicy({ ...policy, quotaBytes: event.currentTarget.value === '' ? null : event.currentTarget.value })
        }
      />
      {number('warningPercent', t('storage.warn'))}
      {number('criticalPercent', t('storage.critical'))}
    </FormDialog>
  )
}
