import { Link, useSearch } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { AboutAndHistory, aboutOrHistory } from '../../parts/about-and-history.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Actor, Digest, Moment, Size, Written } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { ImageLifeline, ImageStages, PromoteImage, WhyImage } from './promotion.tsx'
import { type OfImage, Way } from './way.tsx'

/** What a manifest is made of: platforms, layers, steps, and what refers to it. */
export const Manifest = ({ repository, image, reference }: OfImage & { readonly reference: string }) => {
  const open = aboutOrHistory(useSearch({ from: '/r/$repository/images' }).tab)
  const read = useAsk('getImageManifest', { path: { repository }, query: { image, reference } })
  return (
    <Page
      title={`${image}:${reference.slice(0, 19)}`}
      mono
      lead={<Way repository={repository} image={image} reference={reference} />}
      actions={
        read.data === undefined ? undefined : (
          <PromoteImage key={reference} repository={repository} image={image} reference={reference} />
        )
      }
    >
      <Shown of={read}>
        {(manifest) => (
          <>
            <AboutAndHistory open={open} />
            {open === 'about' ? (
              <About repository={repository} image={image} manifest={manifest} />
            ) : (
              <div className="aside">
                <ImageLifeline repository={repository} image={image} reference={manifest.digest} />
                <WhyImage repository={repository} image={image} reference={manifest.digest} />
              </div>
            )}
          </>
        )}
      </Shown>
    </Page>
  )
}

const About = ({ repository, image, manifest }: OfImage & { readonly manifest: Answer<'getImageManifest'> }) => {
  const { digest } = manifest
  const referrers = useAsk('listImageReferrers', { path: { repository }, query: { image, digest, limit: 50 } })
  return (
    <div className="aside">
      <div className="lines">
        <div className="panel">
          <Facts
            facts={[
              [t('images.digest'), <Digest key="d" sha256={manifest.digest} />],
              [t('images.content'), <Size key="s" bytes={manifest.contentSize} />],
              [t('images.platforms'), manifest.platforms.join(', ') || '–'],
              [t('images.pushed'), <Moment key="p" at={manifest.pushedAt} />],
              [t('list.who'), <Actor key="w" actor={manifest.actor} name={manifest.actorName} />],
              [t('images.tags'), manifest.tags.join(', ') || '–'],
            ]}
          />
        </div>
        {manifest.manifests.length === 0 ? null : (
          <Section title={t('images.inside')}>
            <Parts
              rows={manifest.manifests.map((each) => ({
                ...each,
                name: each.platform ?? each.mediaType,
                size: each.contentSize ?? each.size,
              }))}
              link={(digest) => ({ repository, image, reference: digest })}
            />
          </Section>
        )}
        {manifest.layers.length === 0 ? null : (
          <Section title={t('images.layers')}>
            <Parts rows={manifest.layers.map((each) => ({ ...each, name: each.mediaType }))} link={null} />
          </Section>
        )}
        {(manifest.config?.content?.history ?? []).length === 0 ? null : (
          <Section title={t('images.history')}>
            <ol className="lines panel">
              {numbered(manifest.config?.content?.history ?? []).map(({ step, key }) => (
                <li key={key} className="mono small">
                  <Written text={step.createdBy ?? step.comment ?? '–'} />
                </li>
              ))}
            </ol>
          </Section>
        )}
        {referrers.data === undefined || referrers.data.items.length === 0 ? null : (
          <Section title={t('images.referrers')}>
            <Parts
              rows={referrers.data.items.map((each) => ({ ...each, name: each.artifactType ?? each.mediaType }))}
              link={(digest) => ({ repository, image, reference: digest })}
            />
          </Section>
        )}
      </div>
      <ImageStages repository={repository} image={image} reference={digest} />
    </div>
  )
}

/** Steps with what tells each apart from one that reads the same. */
const numbered = <Step,>(steps: readonly Step[]): { readonly step: Step; readonly key: string }[] =>
  steps.map((step, index) => ({ step, key: String(index) }))

interface Part {
  readonly digest: string
  readonly name: string
  readonly size: string
}

const Parts = ({
  rows,
  link,
}: {
  readonly rows: readonly Part[]
  readonly link:
    | ((digest: string) => { readonly repository: string; readonly image: string; readonly reference: string })
    | null
}) => (
  <div className="scroll-x panel">
    <table className="plain-table">
      <thead>
        <tr>
          <th>{t('list.name')}</th>
          <th>{t('images.digest')}</th>
          <th className="end">{t('list.size')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ digest, name, size }) => (
          <tr key={digest + name}>
            <td>
              {link === null ? (
                name
              ) : (
                <Link
                  to="/r/$repository/images"
                  params={{ repository: link(digest).repository }}
                  search={{ image: link(digest).image, reference: digest }}
                >
                  {name}
                </Link>
              )}
            </td>
            <td>
              <Digest sha256={digest} />
            </td>
            <td className="end">
              <Size bytes={size} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
