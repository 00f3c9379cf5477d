import type { ComponentChildren } from 'preact'
import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import type { Query } from '../../api/query.js'
import type { App, Page } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import type { Codes } from '../../parts/AsCode.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Loaded } from '../../parts/Loaded.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { Rows } from '../../parts/Rows.js'
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
  /** The list by commands. */
  readonly commands: Codes
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
        <CsvButton path={of.path} name={of.path.slice(of.path.lastIndexOf('/') + 1)} />
        <AsCodeButton
          title={`${of.label} as code`}
          codes={[['curl', curl(of.path)], ...of.commands]}
        />
        <ActButton needs="developer" look="primary" onClick={adding.open}>
          {making.button}
        </ActButton>
      </div>
      {of.head}
      <div class="list">
        <Loaded query={query} lines={4}>
          {({ items }) =>
            items.length === 0 ? (
              of.empty
            ) : (
              <Rows
                label={of.label}
                columns={of.columns}
                rows={items}
                openKey={openId}
                keyOf={of.keyOf}
                hrefOf={of.hrefOf}
                isOver={({ active }) => !active}
              />
            )
          }
        </Loaded>
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
