import { NumberInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell } from '../../parts/toasts.tsx'
import { wholeDays } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** How long the bytes of deleted files are kept. */
export const Cleanup = ({ repository }: Of) => {
  const cleanup = useAsk('getCleanup', { path: { repository } })
  const set = useChange('setCleanup', ['getCleanup', 'getStorageUsage'])
  const [open, setOpen] = useState(false)
  const [hours, setHours] = useState<number | string>('')
  const submit = async (): Promise<void> => {
    if (cleanup.data === undefined) return
    await set.mutateAsync({
      path: { repository },
      body: { expectedRevision: cleanup.data.revision, graceHours: hours === '' ? null : Number(hours) },
    })
    setOpen(false)
    tell(t('artifact.saved'))
  }
  return (
    <Section
      title={t('storage.cleanup')}
      actions={
        <Act
          by="setCleanup"
          on={repository}
          size="compact-sm"
          label={t('artifact.edit')}
          off={cleanup.data === undefined}
          run={() => {
            setHours(cleanup.data?.graceHours ?? '')
            setOpen(true)
          }}
        />
      }
    >
      <Shown of={cleanup} rows={1}>
        {({ graceHours, serverGraceHours }) => (
          <p>
            {graceHours === null
              ? t('storage.graceServer', wholeDays(serverGraceHours))
              : t('storage.graceOwn', wholeDays(graceHours))}
          </p>
        )}
      </Shown>
      <FormDialog
        title={t('storage.cleanup')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('dialog.save')}
        busy={set.isPending}
        error={set.error}
      >
        <NumberInput
          label={t('storage.graceHours')}
          description={t('storage.graceEmpty')}
          value={hours}
          onChange={setHours}
          min={0}
          allowDecimal={false}
          data-autofocus
        />
      </FormDialog>
    </Section>
  )
}
