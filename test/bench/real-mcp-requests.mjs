/** Requests to the catalogue of public MCP servers, each with the tools that a good selection names. Written for this. */
export const REAL_MCP_REQUESTS = [
  ['Open an issue in acme/shop: the checkout page shows the wrong tax', ['github__create_issue']],
  [
    'Which pull requests are open in acme/shop, and which files does number 12 change?',
    ['github__list_pull_requests', 'github__get_pull_request_files'],
  ],
  ['Post "deploy is done" to the channel #releases', ['slack__slack_post_message', 'slack__slack_list_channels']],
  [
    'What was said in the support channel since this morning?',
    ['slack__slack_get_channel_history', 'slack__slack_list_channels'],
  ],
  ['How do I drive from Lyon to Geneva, and how long does it take?', ['google-maps__maps_directions']],
  ['Find a bakery near the station in Basel', ['google-maps__maps_search_places', 'google-maps__maps_geocode']],
  ['Show me the logs of the pod checkout-7f9 in production', ['kubernetes__kubectl_logs']],
  ['Scale the deployment web to six replicas', ['kubernetes__kubectl_scale']],
  ['Roll the payment deployment back to the version before', ['kubernetes__kubectl_rollout']],
  ['How many documents are in the collection orders?', ['mongodb__count', 'mongodb__list-databases']],
  ['Add an index on customer and date to the collection orders', ['mongodb__create-index']],
  [
    'Which indexes of the vector database hold more than a million records?',
    ['pinecone__list-indexes', 'pinecone__describe-index-stats'],
  ],
  [
    'Make a branch of our Neon project and run the migration there',
    ['neon__create_branch', 'neon__prepare_database_migration'],
  ],
  ['Send an invoice over 1,200 euros for consulting to Miller & Sons', ['xero__create-invoice', 'xero__list-contacts']],
  ['What is our profit and loss of the last quarter?', ['xero__list-profit-and-loss']],
  ['Which bills has nobody paid yet?', ['xero__list-invoices', 'xero__list-payments']],
  ['Give the ticket about the login error to Dana', ['linear__linear_searchIssues', 'linear__linear_assignIssue']],
  [
    'What is left to do in the running cycle of the mobile team?',
    ['linear__linear_getActiveCycle', 'linear__linear_getCycleIssues'],
  ],
  [
    'Make a task "book the venue" in the project Summer party',
    ['asana__asana_search_projects', 'asana__asana_create_task'],
  ],
  [
    'Read the page about onboarding in Notion and sum it up',
    ['notion__API-post-search', 'notion__API-retrieve-page-markdown'],
  ],
  [
    'Write a comment under the meeting notes of Monday: budget is approved',
    ['notion__API-create-a-comment', 'notion__API-post-search'],
  ],
  [
    'Look up all rows of the table Suppliers whose country is Italy',
    ['airtable__search_records', 'airtable__list_tables'],
  ],
  [
    'Read the file config/app.yaml and change the port to 8080',
    ['filesystem__read_text_file', 'filesystem__edit_file'],
  ],
  ['Which files below /data are larger than the others?', ['filesystem__list_directory_with_sizes']],
  [
    'Open example.org in the browser and take a picture of it',
    ['playwright__browser_navigate', 'playwright__browser_take_screenshot'],
  ],
  [
    'Fill in the form on this page with my name and my address',
    ['playwright__browser_snapshot', 'playwright__browser_fill_form'],
  ],
  ['Search the web for news about battery recycling', ['brave__brave_news_search', 'tavily__tavily_search']],
  ['Draw our sales of the last twelve months as a line', ['antv-chart__generate_line_chart']],
  ['Why did the last build fail?', ['circleci__get_build_failure_logs', 'circleci__get_latest_pipeline_status']],
  ['Which deals of our CRM close this month?', ['hubspot__hubspot-search-objects']],
].map(([message, names]) => ({ message, names }));
