import { Button, SegmentedControl, Select } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../contract/asking.ts'
import { Act } from '../parts/act.tsx'
import { Commands } from '../parts/copy.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { tellProblem } from '../parts/toasts.tsx'
import { useHolders } from '../session/holders.ts'
import { said, t } from '../words/words.ts'
import { type Client, clients, isBelowPath, snippet } from './snippets.ts'

const isClient = (text: string | undefined): text is Client => clients.some((each) => each === text)

/** How a client is set up: choose it and a repository, make a key, copy one block. The key is never in the address. */
export const Connect = () => {
  const { client: named, repository: chosen } = useSearch({ from: '/connect' })
  const navigate = useNavigate({ from: '/connect' })
  const { session } = useHolders()
  const repositories = (session?.permissions.repositories ?? []).map(({ repository }) => repository)
  const client: Client = isClient(named) ? named : 'curl'
  // Whoever made the address may be anybody: only what the service knows by that name comes into a block.
  const isListed = chosen === undefined || repositories.includes(chosen)
  const asked = useAsk('getRepository', { path: { repository: chosen ?? '' } }, { enabled: !isListed })
  const isThere = isListed || asked.data?.id === chosen
  const repository = (isThere ? chosen : undefined) ?? repositories[0] ?? ''
  const [token, setToken] = useState<string | null>(null)
  const [kept, setKept] = useState(false)
  const writes =
    session?.permissions.repositories
      .find((each) => each.repository === repository)
      ?.actions.includes('upload.create') === true
  const [scope, setScope] = useState<'read' | 'read-write'>(writes ? 'read-write' : 'read')
  const create = useChange('createToken', ['listTokens'])
  const make = async (): Promise<void> => {
    try {
      const made = await create.mutateAsync({
        body: {
          name: `${client} ${repository} ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`,
          scope,
          expiresAt: new Date(Date.now() + 90 * 24 * 3_600_000).toISOString(),
        },
      })
      setToken(made.token)
      setKept(false)
    } catch (error) {
      tellProblem(error)
    }
  }
  if (repositories.length === 0)
    return (
      <Page title={t('nav.connect')}>
        <Empty icon="plug" title={t('repositories.none')}>
          <p className="muted">{t('repositories.how')}</p>
        </Empty>
      </Page>
    )
  return (
    <Page title={t('nav.connect')} lead={t('connect.lead')}>
      <Section title={t('connect.what')}>
        <div className="choices">
          {clients.map((each) => (
            <Button
              key={each}
              variant={each === client ? 'light' : 'default'}
              aria-pressed={each === client}
              onClick={() => void navigate({ search: (before) => ({ ...before, client: each }), replace: true })}
            >
              {said('client', each)}
            </Button>
          ))}
        </div>
        <div className="filters">
          <Select
            label={t('list.repository')}
            data={repositories}
            value={isThere ? repository : null}
            searchable
            allowDeselect={false}
            onChange={(next) =>
              void navigate({
                search: (before) => ({ ...before, ...(next === null ? {} : { repository: next }) }),
                replace: true,
              })
            }
          />
          <div>
            <span className="small muted" id="scope">
              {t('connect.may')}
            </span>
            <SegmentedControl
              aria-labelledby="scope"
              value={scope}
              onChange={(next) => setScope(next === 'read' ? 'read' : 'read-write')}
              data={[
                { value: 'read', label: said('scope', 'read') },
                { value: 'read-write', label: said('scope', 'read-write') },
              ]}
            />
          </div>
          {token === null && isThere ? (
            <Act
              by="createToken"
              icon="key"
              variant="filled"
              label={t('connect.make')}
              busy={create.isPending}
              run={() => void make()}
            />
          ) : null}
        </div>
      </Section>
      {isBelowPath() && client === 'docker' ? <p className="band warn">{t('connect.below')}</p> : null}
      {isThere ? (
        <Section title={t('connect.block')}>
          <p className="muted">{token === null ? t('connect.without') : t('connect.with')}</p>
          <Commands text={snippet(client, repository, token)} what={said('client', client)} />
          {token === null || kept ? null : (
            <p className="band">
              {t('secret.once')}
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  setKept(true)
                  setToken(null)
                }}
              >
                {t('secret.kept')}
              </Button>
            </p>
          )}
        </Section>
      ) : asked.isFetching ? null : (
        <p className="band warn" role="status">
          {t('connect.unknown')}
        </p>
      )}
    </Page>
  )
}
