from typing import Optional


class ServerArgs:
    model_path: A[str, "Name or folder of the model."]
    host: A[str, "Address to listen on."] = "127.0.0.1"
    port: A[int, "Port to listen on."] = 30000
    graph_max_batch_decode: A[Optional[int], "Largest decode batch that is captured."] = None
    graph_max_batch_prefill: A[Optional[int], "Largest prefill batch that is captured."] = None
