import { NumberInput, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { exactTime } from '../../values/format.ts'
import { t } from '../../words/words.ts'

/** When backups are taken and how long points are kept, as a sentence and as a form. */
export const Plan = ({ plan, next }: { readonly plan: Answer<'getBackupPlan'>; readonly next: string | null }) => {
  const [open, setOpen] = useState(false)
  const [draft, setDraft] = useState(plan)
  const put = useChange('putBackupPlan', ['getBackupStatus', 'getBackupPlan'])
  const { hour, minute, timezone, retention, enabled } = plan
  const number = (label: string, value: number, change: (next: number) => void, max: number) => (
    <NumberInput
      label={label}
      value={value}
      onChange={(given) => change(Number(given))}
      min={0}
      max={max}
      allowDecimal={false}
    />
  )
  return (
    <Section
      title={t('backups.plan')}
      actions={
        <Act
          by="putBackupPlan"
          size="compact-sm"
          label={t('artifact.edit')}
          run={() => {
            setDraft(plan)
            setOpen(true)
          }}
        />
      }
    >
      <div className="panel">
        <p>
          {enabled
            ? t('backups.sentence', {
                time: `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`,
                timezone,
                daily: retention.daily,
                weekly: retention.weekly,
                monthly: retention.monthly,
              })
            : t('backups.noPlan')}
        </p>
        {next === null ? null : <p className="muted">{exactTime(next)}</p>}
      </div>
      <FormDialog
        title={t('backups.plan')}
        open={open}
        close={() => setOpen(false)}
        submit={() => {
          const { revision, ...rest } = draft
          put.mutate({ body: { ...rest, expectedRevision: revision } }, { onSuccess: () => setOpen(false) })
        }}
        label={t('dialog.save')}
        busy={put.isPending}
        error={put.error}
      >
        <Switch
          label={t('storage.enabled')}
          checked={draft.enabled}
          onChange={(event) => setDraft({ ...draft, enabled: event.currentTarget.checked })}
        />
        {number(t('backups.hour'), draft.hour, (value) => setDraft({ ...draft, hour: value }), 23)}
        {number(t('backups.minute'), draft.minute, (value) => setDraft({ ...draft, minute: value }), 59)}
        <TextInput
          label={t('backups.zone')}
          value={draft.timezone}
          onChange={(event) => setDraft({ ...draft, timezone: event.currentTarget.value })}
        />
        {number(
          t('backups.daily'),
          draft.retention.daily,
          (daily) => setDraft({ ...draft, retention: { ...draft.retention, daily } }),
          1000,
        )}
        {number(
          t('backups.weekly'),
          draft.retention.weekly,
          (weekly) => setDraft({ ...draft, retention: { ...draft.retention, weekly } }),
          1000,
        )}
        {number(
          t('backups.monthly'),
          draft.retention.monthly,
          (monthly) => setDraft({ ...draft, retention: { ...draft.retention, monthly } }),
          1000,
        )}
      </FormDialog>
    </Section>
  )
}
