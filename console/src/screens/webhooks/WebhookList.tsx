import type { ComponentChildren } from 'preact'
import { call } from '../../api/call.js'
import type { Query } from '../../api/query.js'
import type { App, Page } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { Absent, Split } from '../../parts/Split.js'
import type { Column } from '../../parts/Table.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { go, hrefOf } from '../../router.js'

/** What both lists of the screen get. */
export type ListProps = {
  readonly app: App
  readonly openId: string | undefined
  /** What stands below the heading of both lists. */
  readonly head: ComponentChildren
}

/** The open panel reports it. */
export type PanelActs = { onChanged(): void; onSecret(secret: string): void }

type Making<Row> = {
  /** On the button that opens the dialog. */
  readonly button: string
  readonly title: string
  readonly act: string
  readonly codes: readonly (readonly [name: string, text: string])[]
  readonly fields: ComponentChildren
  bodyOf(form: FormData): object
  /** The created webhook of the answer, without its secret. */
  madeOf(answer: Readonly<Record<string, unknown>>): Row
}

type WebhookListProps<Row> = {
  /** The path of the API at which they are listed and made. */
  readonly path: string
  readonly query: Query<Page<Row>>
  readonly label: string
  /** The list by the command line. */
  readonly command: string
  readonly columns: readonly Column<Row>[]
  readonly openId: string | undefined
  readonly head: ComponentChildren
  readonly empty: ComponentChildren
  readonly making: Making<Row>
  /** The path of the console of all of them. */
  readonly all: string
  keyOf(row: Row): string
  hrefOf(row: Row): string
  panelOf(row: Row, acts: PanelActs): ComponentChildren
}

/** Webhooks of one kind of an app, and the open one; a new one shows its secret once. */
export function WebhookList<Row extends { readonly active: boolean }>({
  query,
  making,
  openId,
  ...of
}: WebhookListProps<Row>) {
  const adding = useOpen()
  const secret = useShown<string>()
  const open = query.data?.items.find((row) => of.keyOf(row) === openId)
  return (
    <Split
      panel={
        openId === undefined ? undefined : open === undefined ? (
          <Absent query={query} what="webhook" all="All webhooks" href={hrefOf(of.all)} />
        ) : (
          of.panelOf(open, { onChanged: query.refresh, onSecret: secret.show })
        )
      }
    >
      <div class="row">
        <h1>Webhooks</h1>
        <span class="grow" />
        <ListActs path={of.path} title={`${of.label} as code`} command={of.command} />
        <ActButton needs="developer" look="primary" onClick={adding.open}>
          {making.button}
        </ActButton>
      </div>
      {of.head}
      <div class="list">
        <LoadedRows
          query={query}
          lines={4}
          label={of.label}
          columns={of.columns}
          openKey={openId}
          keyOf={of.keyOf}
          hrefOf={of.hrefOf}
          isOver={({ active }) => !active}
          empty={of.empty}
        />
      </div>
      {adding.isOpen && (
        <ActionDialog
          title={making.title}
          act={making.act}
          codes={making.codes}
          run={async (form) => {
            const made = await call<{ readonly signingSecret: string }>('POST', of.path, {
              body: making.bodyOf(form),
            })
            query.refresh()
            secret.show(made.signingSecret)
            go(of.hrefOf(making.madeOf(made)))
          }}
          onClose={adding.close}
        >
          {making.fields}
        </ActionDialog>
      )}
      {secret.shown !== undefined && (
        <OnceDialog
          title="The signing secret"
          text="With it your server verifies that a call is ours (Standard Webhooks). It is shown this once; a new one can always be made."
          values={[['signing secret', secret.shown]]}
          onClose={secret.hide}
        />
      )}
    </Split>
  )
}
