import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { momentColumn } from '../../parts/columns.tsx'
import { Commands } from '../../parts/copy.tsx'
import { FormDialog, SecretDialog } from '../../parts/dialog.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { randomId } from '../../platform/ids.ts'
import { said, t } from '../../words/words.ts'
import { activation } from '../snippets.ts'
import { Delegations } from './delegations.tsx'
import type { Account } from './service-policy.tsx'

type Key = Answer<'listServiceKeys'>['items'][number]

const states = { pending: 'warn', active: 'ok', revoked: 'plain' } as const

const day = 24 * 3_600_000

/** The keys of a program, and how one follows another without a gap. */
export const Keys = ({ account }: { readonly account: Account }) => {
  const list = usePages('listServiceKeys', (after) => ({
    path: { id: account.id },
    ...(after === undefined ? {} : { query: { after: String(after) } }),
  }))
  const [making, setMaking] = useState<Key | 'new' | null>(null)
  const [delegating, setDelegating] = useState<Key | null>(null)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [rotated, setRotated] = useState<Key | null>(null)
  const revoke = useChange('revokeServiceKey', ['listServiceKeys', 'getServiceAudit'])
  return (
    <Section
      title={t('services.keys')}
      actions={
        <Act
          by="issueServiceKey"
          icon="plus"
          size="compact-sm"
          label={t('services.newKey')}
          run={() => setMaking('new')}
        />
      }
    >
      {rotated === null ? null : (
        <p className="band">
          <Icon name="info" />
          {t('services.rotating', { name: rotated.name })}
          <button type="button" className="link" onClick={() => setRevoking(rotated)}>
            {t('services.revokeOld')}
          </button>
        </p>
      )}
      <Listed
        of={list}
        label={t('services.keys')}
        keyOf={({ id }) => id}
        columns={[
          { key: 'name', label: t('list.name'), width: 'minmax(120px, 2fr)', show: ({ name }) => name },
          {
            key: 'state',
            label: t('list.state'),
            width: '110px',
            show: ({ state }) => <Tag tone={states[state]} text={said('key', state)} />,
          },
          momentColumn('expiresAt', t('me.expires'), { wide: true }),
          {
            key: 'act',
            label: t('list.actions'),
            width: '300px',
            end: true,
            show: (key) =>
              key.state === 'revoked' ? null : (
                <span className="line end-line">
                  <Act
                    by="rotateServiceKey"
                    size="compact-xs"
                    label={t('services.rotate')}
                    run={() => setMaking(key)}
                  />
                  <button type="button" className="link small" onClick={() => setDelegating(key)}>
                    {t('delegation.title')}
                  </button>
                  <Act by="revokeServiceKey" size="compact-xs" label={t('me.revoke')} run={() => setRevoking(key)} />
                </span>
              ),
          },
        ]}
        empty={<Empty icon="key" title={t('services.noKeys')} />}
      />
      {delegating === null ? null : (
        <Delegations id={delegating.id} name={delegating.name} close={() => setDelegating(null)} />
      )}
      {making === null ? null : (
        <MakeKey
          account={account}
          from={making === 'new' ? null : making}
          close={() => setMaking(null)}
          made={(text) => {
            setSecret(text)
            setRotated(making === 'new' ? null : making)
            setMaking(null)
          }}
        />
      )}
      <SecretDialog title={t('services.secret')} secret={secret} close={() => setSecret(null)}>
        <Commands text={secret ?? ''} what={t('services.secret')} />
        <p>{t('services.activate')}</p>
        <Commands text={activation()} what={t('services.activation')} />
      </SecretDialog>
      <FormDialog
        title={t('me.revoke')}
        open={revoking !== null}
        close={() => setRevoking(null)}
        submit={() =>
          revoke.mutate(
            { path: { id: revoking?.id ?? '' } },
            {
              onSuccess: () => {
                if (revoking?.id === rotated?.id) setRotated(null)
                setRevoking(null)
              },
            },
          )
        }
        label={t('me.revoke')}
        busy={revoke.isPending}
        error={revoke.error}
        named={revoking?.name ?? ''}
        danger
      >
        <p>{t('services.revoking')}</p>
      </FormDialog>
    </Section>
  )
}

const MakeKey = ({
  account,
  from,
  close,
  made,
}: {
  readonly account: Account
  readonly from: Key | null
  readonly close: () => void
  readonly made: (secret: string) => void
}) => {
  const [name, setName] = useState(from === null ? '' : from.name)
  const [days, setDays] = useState('90')
  const [key] = useState(randomId)
  const issue = useChange('issueServiceKey', ['listServiceKeys', 'getServiceAudit'])
  const rotate = useChange('rotateServiceKey', ['listServiceKeys', 'getServiceAudit'])
  const submit = async (): Promise<void> => {
    const body = {
      name,
      bindings: from === null ? account.bindings : from.bindings,
      expiresAt: new Date(Date.now() + Number(days) * day).toISOString(),
    }
    const headers = { 'idempotency-key': key }
    const answer = await (from === null
      ? issue.mutateAsync({ path: { id: account.id }, headers, body })
      : rotate.mutateAsync({ path: { id: from.id }, headers, body }))
    if ('secret' in answer) made(answer.secret)
    else close()
  }
  return (
    <FormDialog
      title={from === null ? t('services.newKey') : t('services.rotateIt', { name: from.name })}
      open
      close={close}
      submit={() => void submit().catch(() => {})}
      label={t('me.create')}
      busy={issue.isPending || rotate.isPending}
      error={issue.error ?? rotate.error}
      ready={name !== ''}
    >
      <p className="muted">{from === null ? t('services.issuing') : t('services.rotation')}</p>
      <TextInput
        label={t('list.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={t('me.expires')}
        allowDeselect={false}
        value={days}
        onChange={(next) => setDays(next ?? '90')}
        data={['30', '90', '365'].map((value) => ({ value, label: t('me.days', { days: Number(value) }) }))}
      />
    </FormDialog>
  )
}
